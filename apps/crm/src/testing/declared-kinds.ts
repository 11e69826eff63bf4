import { readdirSync } from 'node:fs';
import type { Kind } from '../records/kind.ts';

const features = new URL('../features/', import.meta.url);

/** The arguments for functions that declare kinds, by function name. */
const parameters: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  declareAccounts: [['email'], ['sms']],
  declareWebhookEndpoints: [[{}]],
};

const isKind = (value: unknown): value is Kind =>
  typeof value === 'object' && value !== null && 'table' in value && 'defaultSort' in value;

/** Every kind exported by a file `<name>.kind.ts` of a feature. */
export const declaredKinds = async (): Promise<Kind[]> => {
  const files = readdirSync(features, { recursive: true, encoding: 'utf8' });
  const kinds: Kind[] = [];
  for (const file of files.filter((name) => name.endsWith('.kind.ts'))) {
    const found: unknown[] = [];
    for (const [name, value] of Object.entries(await import(new URL(file, features).href))) {
      if (typeof value !== 'function') found.push(value);
      else if (parameters[name]) found.push(...parameters[name].map((given) => value(...given)));
      else throw new Error(`${file}: how is ${name} called? Add it to the parameters.`);
    }
    if (!found.some(isKind)) throw new Error(`${file} declares no kind.`);
    kinds.push(...found.filter(isKind));
  }
  return kinds;
};
