-- Deletes old lines of histories, with their links of the chain.
SELECT sandkeeper.purge_timeline(@before, @batch)
