/** The logger that this package needs; pino satisfies it. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
