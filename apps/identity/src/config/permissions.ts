import { PermissionRegistry, type ServicePermissions } from '@tessera/contracts';
import {
  described,
  mapOf,
  type OutOf,
  optional,
  rawText,
  text,
  validate,
  withRule,
} from '@tessera/fields';

const MAX_CHARACTERS = 500_000;
const MAX_SERVICES = 20;
/** Of all services together, so that `GET /api/permissions` can be one page. */
const MAX_PERMISSIONS = 500;
/** With these and the longest slug, full names are shorter than the longest pattern. */
const MAX_LENGTH = { service: 30, permission: 90 } as const;

/** Services whose permissions belong to the release. */
const BUILT_IN = ['identity', 'crm'];

const SERVICE = /^[a-z][a-z0-9_-]*$/;
const PERMISSION = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/;
const LETTERS = 'lower-case letters, digits, _ and -, beginning with a letter';

const Document = mapOf(mapOf(text(200), MAX_PERMISSIONS), MAX_SERVICES);

const nameProblem = (kind: keyof typeof MAX_LENGTH, name: string): string | undefined => {
  const shown = `names the ${kind} ${JSON.stringify(name)}`;
  const max = MAX_LENGTH[kind];
  if (name.length > max) return `${shown}, which is longer than ${max} characters`;
  if ((kind === 'service' ? SERVICE : PERMISSION).test(name)) return undefined;
  return kind === 'service'
    ? `${shown}, but the name of a service consists of ${LETTERS}`
    : `${shown}, but each segment of a permission consists of ${LETTERS}`;
};

const problemIn = (services: ServicePermissions): string | undefined => {
  const builtIn = Object.keys(services).find((service) => BUILT_IN.includes(service));
  if (builtIn !== undefined)
    return `names the service "${builtIn}", whose permissions are built in`;
  const names = Object.values(services).flatMap((one) => Object.keys(one));
  if (names.length > MAX_PERMISSIONS) return `has more than ${MAX_PERMISSIONS} permissions`;
  const problems = [
    ...Object.keys(services).map((service) => nameProblem('service', service)),
    ...names.map((name) => nameProblem('permission', name)),
  ];
  return problems.find((problem) => problem !== undefined);
};

type Parsed = { readonly services: ServicePermissions } | { readonly problem: string };

const parse = (json: string): Parsed => {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch {
    return { problem: 'must be JSON' };
  }
  const result = validate(Document, given, 'the whole');
  if (!result.ok)
    return { problem: `is invalid: ${Object.values(result.errors).flat().join('; ')}` };
  const problem = problemIn(result.value);
  return problem === undefined ? { services: result.value } : { problem };
};

const document = withRule(rawText(MAX_CHARACTERS), (json) => {
  // Text that is too long gets an error of its own.
  if (json.length > MAX_CHARACTERS) return undefined;
  const parsed = parse(json);
  return 'problem' in parsed ? parsed.problem : undefined;
});

export const permissionVariables = {
  PERMISSIONS: described(
    optional(document),
    'Permissions of further services, as the JSON object `{"<service>": {"<permission>": "<description>"}}`, usually as PERMISSIONS_FILE.',
  ),
} as const;

/** The permissions that exist. */
export const permissionSettings = ({ PERMISSIONS = '{}' }: OutOf<typeof permissionVariables>) => {
  const parsed = parse(PERMISSIONS);
  return { permissions: new PermissionRegistry('services' in parsed ? parsed.services : {}) };
};
