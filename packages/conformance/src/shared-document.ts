import type { OpenApiDocument } from './document.ts';

/** Settings that no document depends on. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['DATABASE_URL', 'IDENTITY_URL']);

const shared = new WeakMap<object, object>();

/**
 * The OpenAPI document of an application that a test started with settings of its own. It takes long to create, so the
 * applications with the same `routes`, an object that identifies them, share one. Those with settings that a document may
 * depend on, such as the size of files, have their own.
 */
export const documentOf = (
  made: { readonly document: object },
  settings: Readonly<Record<string, string>>,
  routes: object,
): OpenApiDocument => {
  const isOwn = Object.keys(settings).some((name) => !WITHOUT_EFFECT.has(name));
  const document = isOwn ? made.document : (shared.get(routes) ?? made.document);
  if (!isOwn) shared.set(routes, document);
  return document as OpenApiDocument;
};
