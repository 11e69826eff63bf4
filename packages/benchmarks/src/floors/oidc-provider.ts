// Unmodified oidc-provider with its in-memory adapter: one client, opaque tokens of the same length.
import Provider from 'oidc-provider';
import { serve } from './listening.ts';

const { CLIENT_ID = '', CLIENT_SECRET = '', SCOPE = '' } = process.env;

const provider = new Provider('http://127.0.0.1', {
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      scope: SCOPE,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    },
  ],
  scopes: SCOPE.split(' '),
  responseTypes: [],
  clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
  formats: { bitsOfOpaqueRandomness: 384 },
  ttl: { ClientCredentials: 3600 },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
  },
});

serve(provider.callback());
