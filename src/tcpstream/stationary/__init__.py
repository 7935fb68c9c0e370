"""The stationary backlog of a live stream, from loss epoch to loss epoch."""
