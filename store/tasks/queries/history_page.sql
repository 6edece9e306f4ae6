-- Finds where a page of a history ends: the id of its last row, by the index of the ids. Each page is a short
-- statement, however many rows there are and however few of them are wanted.
SELECT (page.id)::text
FROM (
    SELECT {{.ID}} AS id
    FROM {{.Table}}
    WHERE {{.From}}
    ORDER BY {{.ID}}
    LIMIT @most
) AS page
ORDER BY page.id DESC
LIMIT 1
