-- Which readings of a snapshot have anything to read. Each row of theirs comes from one of the table that is asked for
-- here, so that a reading that is not named would find none, or count to none. In a quiet fleet most of them are empty.
SELECT array_remove(ARRAY[
    CASE WHEN EXISTS (SELECT FROM sandkeeper.modes) THEN 'modes' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.pauses) THEN 'pauses' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.holds) THEN 'holds' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.releases) THEN 'releases' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.breakers) THEN 'breakers' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.proofs) THEN 'proofs' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.arms) THEN 'arms' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.learned) THEN 'learned' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.proof_grace) THEN 'proof_grace' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.canaries) THEN 'canaries' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.templates) THEN 'recall_templates' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.incidents WHERE closed_at IS NULL) THEN 'open_incidents' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.findings WHERE resolved_at IS NULL) THEN 'open_findings' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.actions WHERE closed_at IS NULL) THEN 'open_actions' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.verdicts) THEN 'recall_verdicts' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.verdicts) THEN 'tallies' END,
    CASE WHEN EXISTS (SELECT FROM sandkeeper.armings) THEN 'recall_armed' END
] || CASE WHEN EXISTS (SELECT FROM sandkeeper.findings WHERE resolved_at IS NULL)
        THEN ARRAY['overview_findings', 'overview_rules', 'trend_findings', 'trend_leaking'] END
  || CASE WHEN EXISTS (SELECT FROM sandkeeper.findings WHERE resolved_at IS NOT NULL)
        THEN ARRAY['overview_resolved', 'trend_findings'] END
  || CASE WHEN EXISTS (SELECT FROM sandkeeper.actions WHERE closed_at IS NULL)
        THEN ARRAY['overview_actions', 'overview_open_total', 'score_actions', 'recall_hour'] END
  || CASE WHEN EXISTS (SELECT FROM sandkeeper.actions WHERE closed_at IS NOT NULL)
        THEN ARRAY['overview_recent', 'score_actions', 'trend_actions', 'recall_hour'] END
  || CASE WHEN EXISTS (SELECT FROM sandkeeper.incidents WHERE closed_at IS NOT NULL) THEN ARRAY['closed_incidents'] END
  || CASE WHEN EXISTS (SELECT FROM sandkeeper.verdicts)
        THEN ARRAY['regretted', 'score_verdicts', 'trend_saved'] END, NULL)
