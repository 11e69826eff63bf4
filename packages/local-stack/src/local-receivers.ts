/**
 * The environment variables with which CRM sends webhooks and messages of the local system to servers on this machine, unless
 * the environment names the networks itself. Everything here belongs to one developer, and nothing else is allowed.
 */
export const localReceivers = (
  given = process.env.OUTBOUND_ALLOWED_NETWORKS,
): Readonly<Record<string, string>> => ({
  OUTBOUND_ALLOWED_NETWORKS: given || '127.0.0.0/8,::1/128',
});
