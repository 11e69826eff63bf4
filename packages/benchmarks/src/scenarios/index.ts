import type { ScaleScenario } from '../scale/bench.ts';
import type { Scenario } from '../scenario.ts';
import { canary } from './canary.ts';
import { contactList, contactSearch } from './contacts.ts';
import { user } from './express.ts';
import { files } from './files.ts';
import { grant, introspection } from './oauth.ts';
import { policyChange } from './policies.ts';
import { memory, warmStart } from './process.ts';
import { scaleScenarios } from './scale/index.ts';
import { signInStorm, signIns } from './sign-in.ts';
import { chatStreams } from './streams.ts';
import { severalWorkers } from './workers.ts';

/** In this order; scenarios that restart the system come last. */
const scenarios: readonly Scenario[] = [
  grant,
  introspection,
  user,
  severalWorkers,
  contactList,
  contactSearch,
  policyChange,
  chatStreams,
  files,
  signIns,
  signInStorm,
  memory,
  warmStart,
];

/** Those of `listed` with these names, or all; `unlisted` ones run only if named. Throws for an unknown name. */
const named = <S extends { readonly name: string }>(
  names: readonly string[],
  listed: readonly S[],
  unlisted: readonly S[] = [],
): readonly S[] => {
  const known = [...listed, ...unlisted];
  const unknown = names.find((name) => known.every((scenario) => scenario.name !== name));
  if (unknown !== undefined) {
    const all = listed.map(({ name }) => name).join(', ');
    throw new Error(`There is no scenario "${unknown}". Available: ${all}.`);
  }
  return names.length === 0 ? listed : known.filter(({ name }) => names.includes(name));
};

/** The chosen scenarios without `--scale`. */
export const chosen = (names: readonly string[]): readonly Scenario[] =>
  named(names, scenarios, [canary]);

/** The chosen scenarios with `--scale`. */
export const chosenAtScale = (names: readonly string[]): readonly ScaleScenario[] =>
  named(names, scaleScenarios);
