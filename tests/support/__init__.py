"""What tests share: samples, stand-ins, servers, and the apps and programs that tests start."""
