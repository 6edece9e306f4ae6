-- Lets one claim at a time count what is left of the budgets.
SELECT name FROM sandkeeper.budgets WHERE name = 'remedies'
-- guard:sql-budget-lock P7
FOR UPDATE
