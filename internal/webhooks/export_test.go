package webhooks

// WaitAfter is waitAfter for tests.
var WaitAfter = waitAfter
