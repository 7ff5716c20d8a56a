"""What can be found out without typing it: models of endpoints, addresses of providers."""
