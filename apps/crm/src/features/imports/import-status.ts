export const importStatuses = [
  'uploading',
  'pending',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const;

/** The statuses of imports that have ended. */
const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);
export const hasEnded = ({ status }: { readonly status: string }): boolean => ended.has(status);
