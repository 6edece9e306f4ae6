package bare

import (
	"context"
	"fmt"
	"net/http"
)

// Sweep is what the platforms' own loops do: it reads a filtered list to its end, and deletes what belongs to no task
// one after the other. It looks at nothing twice, keeps no record and confirms nothing. It returns how many it deleted.
func Sweep(ctx context.Context, url string, known map[string]bool) (ended int, err error) {
	var leftOver []string
	for cursor := ""; ; {
		var page struct {
			Items []struct {
				ID     string
				Labels map[string]string
			}
			NextCursor *string
		}
		err := JSON(ctx, url+"/api/sandbox?labels=%7B%22project%22%3A%22omoios%22%7D&cursor="+cursor, &page)
		if err != nil {
			return 0, err
		}
		for _, sb := range page.Items {
			if !known[sb.Labels["task_id"]] {
				leftOver = append(leftOver, sb.ID)
			}
		}
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	for _, id := range leftOver {
		if err := remove(ctx, url+"/api/sandbox/"+id); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, nil
}

func remove(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("delete %s: %s", url, resp.Status)
	}
	return nil
}
