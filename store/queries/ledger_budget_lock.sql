-- Lets one claim at a time count what is left of the budgets.
SELECT name FROM sandkeeper.budgets WHERE name = 'remedies' FOR UPDATE
