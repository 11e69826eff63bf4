/**
 * How the stream of identity's events stands, as decision C3 defines it. `none`: there is no broker in
 * the configuration, so nothing will ever tell of a change.
 */
export type StreamState = 'connected' | 'disconnected' | 'none';
