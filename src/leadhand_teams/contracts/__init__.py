"""Reviews contracts: clauses with their places, a playbook's rules, risks, changes of versions."""
