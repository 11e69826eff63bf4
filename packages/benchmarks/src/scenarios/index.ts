import type { Scenario } from '../scenario.ts';
import { canary } from './canary.ts';
import { contactList, contactSearch } from './contacts.ts';
import { user } from './express.ts';
import { grant, introspection } from './oauth.ts';
import { policyChange } from './policies.ts';
import { memory, warmStart } from './process.ts';
import { signInStorm, signIns } from './sign-in.ts';

/** In this order; scenarios that restart the system come last. */
const scenarios: readonly Scenario[] = [
  grant,
  introspection,
  user,
  contactList,
  contactSearch,
  policyChange,
  signIns,
  signInStorm,
  memory,
  warmStart,
];

/** The scenarios with these names, or all; throws for an unknown name. */
export const chosen = (names: readonly string[]): readonly Scenario[] => {
  const known = [...scenarios, canary];
  const unknown = names.find((name) => known.every((scenario) => scenario.name !== name));
  if (unknown !== undefined) {
    const all = scenarios.map(({ name }) => name).join(', ');
    throw new Error(`There is no scenario "${unknown}". Available: ${all}.`);
  }
  return names.length === 0 ? scenarios : known.filter(({ name }) => names.includes(name));
};
