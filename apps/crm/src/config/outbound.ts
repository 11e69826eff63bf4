import { described, list, matching, type OutOf, url, withDefault } from '@tessera/fields';
import { allowedAddresses } from '@tessera/outbound-http';

export const outboundVariables = {
  OUTBOUND_ALLOWED_NETWORKS: described(
    withDefault(
      list(matching(/^[0-9a-fA-F.:]+\/\d{1,3}$/, 'a network such as 10.1.0.0/16', 50), {
        max: 100,
      }),
      [],
    ),
    "Networks in CIDR notation that tenants' messages and webhooks may be sent to although they are not public, such as that of a mail server. With any, webhooks are also sent to http URLs.",
  ),
  TWILIO_URL: described(
    withDefault(url(500), 'https://api.twilio.com'),
    "Base URL of Twilio's API, for another region or a proxy.",
  ),
} as const;

/** The settings of requests to the servers of tenants. Throws for an invalid network. */
export const outboundSettings = (read: OutOf<typeof outboundVariables>) => {
  const { OUTBOUND_ALLOWED_NETWORKS: allowedNetworks, TWILIO_URL: twilioUrl } = read;
  try {
    allowedAddresses(allowedNetworks);
  } catch {
    throw new Error('The configuration has an invalid network in OUTBOUND_ALLOWED_NETWORKS.');
  }
  return { outbound: { allowedNetworks, twilioUrl: twilioUrl.replace(/\/$/, '') } };
};
