package alerts

func recreations(r *reading, put put) { r.ofTasks("recreations", put) }

func recreationsBack(r *reading, put put) { r.ofTasks("recreations_back", put) }

func resumes(r *reading, put put) { r.byProvider("resumes", put) }

func resumesWorked(r *reading, put put) { r.byProvider("resumes_worked", put) }
