"""What serving costs with and without speculation: $ per request, payback, break-even."""
