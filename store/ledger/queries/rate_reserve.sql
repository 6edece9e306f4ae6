-- Takes the next places for calls to a provider, for all processes in one line: the places
-- of a chunk end where those of the next begin. Returns how many seconds ahead the first
-- one is: less than none where the line ended a moment ago (@resumed), which is gone on with where
-- it ended, for the time that a question takes is not to be lost to the rate. No row when that is more than
-- @longest: nothing is taken then. A line that ends further ahead than any chunk may leave it (@sane) is of a
-- clock that ran back.
INSERT INTO sandkeeper.rates AS r (provider, next_at)
VALUES (@provider, clock_timestamp() + make_interval(secs => @span))
ON CONFLICT (provider) DO UPDATE SET next_at = make_interval(secs => @span) + CASE
        WHEN r.next_at > clock_timestamp() + make_interval(secs => @sane) THEN clock_timestamp()
        WHEN r.next_at > clock_timestamp() - make_interval(secs => @resumed) THEN r.next_at
        ELSE clock_timestamp() END
    WHERE r.next_at <= clock_timestamp() + make_interval(secs => @longest)
       OR r.next_at > clock_timestamp() + make_interval(secs => @sane)
RETURNING extract(epoch FROM next_at - make_interval(secs => @span) - clock_timestamp())::float8
