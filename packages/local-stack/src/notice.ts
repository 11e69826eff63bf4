import path from 'node:path';
import { mailDirectory, type Stack } from './stack.ts';

/** The instructions printed after the start. */
export const startNotice = (
  {
    system,
    broker,
  }: Pick<Stack, 'system'> & { readonly broker: Pick<Stack['broker'], 'port' | 'isLoopbackOnly'> },
  directory: string,
): string => {
  const { administrator, owner, viewer, system_application } = system;
  const signIn = (who: string, of: { email: string; password: string }): string =>
    `  ${who.padEnd(22)}${of.email.padEnd(30)}${of.password}`;
  const exposed = broker.isLoopbackOnly
    ? ''
    : `\nOther machines can reach the broker, on port ${broker.port}: this system cannot keep it from the network (see README.md).\n`;
  return `
Tessera is running.

  identity              ${system.identity_url}   reference: ${system.identity_url}/docs
  CRM                   ${system.crm_url}   reference: ${system.crm_url}/docs
  Kafka broker          ${system.kafka_brokers}

Sign in with
${signIn('system administrator', administrator)}
${signIn('tenant owner', owner)}
${signIn('viewer', viewer)}

System application      ${system_application.client_id}   ${system_application.client_secret}

  for scripts           ${path.join(directory, 'local.json')}
  mails                 ${mailDirectory(directory)}   one page each
  logs                  ${path.join(directory, 'logs')}

${exposed}
Ctrl-C stops everything; the data stays in ${directory}.
`;
};
