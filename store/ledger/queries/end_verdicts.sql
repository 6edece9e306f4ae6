-- Ends the watch over verdicts.
UPDATE sandkeeper.verdicts SET over = true WHERE number = ANY(@numbers::bigint[])
