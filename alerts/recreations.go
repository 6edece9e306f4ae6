package alerts

func recreations(r *reading, put put) { r.byProvider("recreations", put) }

func recreationsBack(r *reading, put put) { r.byProvider("recreations_back", put) }

func resumes(r *reading, put put) { r.byProvider("resumes", put) }

func resumesWorked(r *reading, put put) { r.byProvider("resumes_worked", put) }
