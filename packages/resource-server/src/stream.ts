/**
 * The state of the connection to identity's events, as decision C3 defines it. `none`: no broker is
 * configured, so no event will ever report a change.
 */
export type StreamState = 'connected' | 'disconnected' | 'none';
