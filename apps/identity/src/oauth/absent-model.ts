import type { Adapter } from 'oidc-provider';

/** Keeps a model of the provider of which there is nothing to keep. */
export const absentModel: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};
