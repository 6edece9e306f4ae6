-- Where the chain of the timeline begins.
SELECT began, purged_link, purged_hash, purged, purged_at FROM sandkeeper.timeline_chain
