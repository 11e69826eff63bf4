import type { Adapter } from 'oidc-provider';

/** The store of a model that the provider never needs to find again. */
export const absentModel: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};
