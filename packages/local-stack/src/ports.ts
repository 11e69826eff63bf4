const usual = { IDENTITY_PORT: 4000, IDENTITY_STUB_PORT: 4001, CRM_PORT: 4100 } as const;

/** The port that a variable names, or its usual one; throws, by name, where the value is no port. */
export const portOf = (variable: keyof typeof usual): number => {
  const text = process.env[variable] || `${usual[variable]}`;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`${variable} is no port number: ${text}`);
};
