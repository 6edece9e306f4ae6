-- Takes back a release that nobody with the operator key made, for one that somebody makes now.
UPDATE sandkeeper.incidents SET released_at = NULL WHERE id = @id AND release_seal = @seal
