package alerts

func trusted(r *reading, put put) {
	for _, s := range r.Sources {
		put(bit(s.Trusted), s.Name)
	}
}

func trustedSince(r *reading, put put) {
	for _, s := range r.Sources {
		if !s.Since.IsZero() {
			put(seconds(s.Since), s.Name)
		}
	}
}
