export * from './caller/policies.ts';
export * from './caller/principal.ts';
export * from './errors.ts';
export * from './permissions/crm.ts';
export * from './permissions/identity.ts';
export * from './permissions/registry.ts';
export * from './permissions/roles.ts';
