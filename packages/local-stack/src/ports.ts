import { isFree } from './free-port.ts';

const usual = { IDENTITY_PORT: 4000, IDENTITY_STUB_PORT: 4001, CRM_PORT: 4100 } as const;

/**
 * The port given by a variable, or its default; throws an error naming the variable if the value is invalid.
 */
export const portOf = (variable: keyof typeof usual): number => {
  const text = process.env[variable] || `${usual[variable]}`;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`${variable} is not a port number: ${text}`);
};

/**
 * Throws an error naming the variable if another program listens on its port. What it answers must not be taken for the
 * answer of the service that is about to start.
 */
export const requireFreePort = async (variable: keyof typeof usual): Promise<void> => {
  const port = portOf(variable);
  if (await isFree(port)) return;
  throw new Error(`Port ${port} is taken; set ${variable} to a free one.`);
};
