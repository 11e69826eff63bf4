import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { v7 as uuidv7 } from 'uuid';

interface SignIn {
  readonly email: string;
  readonly password: string;
}

interface Member extends SignIn {
  readonly user_id: string;
  readonly tenant_id: string;
  readonly tenant_slug: string;
}

interface SystemApplication {
  readonly client_id: string;
  readonly client_secret: string;
  readonly scope: string;
}

interface Client {
  readonly client_id: string;
  /** Null for a public client. */
  readonly client_secret: string | null;
  readonly redirect_uris: readonly string[];
}

/** The content of `.data/local.json`: everything that scripts need to use the local system. */
export interface LocalSystem {
  readonly identity_url: string;
  readonly crm_url: string;
  /** The addresses of the broker, separated by commas, as in `KAFKA_BROKERS`; null if none is started. */
  readonly kafka_brokers: string | null;
  readonly administrator: SignIn & { readonly user_id: string };
  readonly owner: Member;
  readonly viewer: Member;
  readonly person: Member;
  readonly other_owner: Member;
  readonly system_application: SystemApplication;
  /** The client by which CRM asks identity for the rights of users who are not present. */
  readonly crm_client: SystemApplication;
  readonly clients: {
    readonly admin_panel: Client;
    readonly mobile_app: Client;
    readonly tenant: Client;
  };
}

type Addresses = Pick<LocalSystem, 'identity_url' | 'crm_url' | 'kafka_brokers'>;

const secret = (): string => randomBytes(32).toString('base64url');
/** A random password with all required kinds of characters; hexadecimal digits spell no name. */
const password = (): string => `${randomBytes(12).toString('hex')}-aA1`;

const newCrmClient = (): SystemApplication => ({
  client_id: 'crm',
  client_secret: secret(),
  scope: 'identity.principals.view',
});

const newSystem = (addresses: Addresses): LocalSystem => {
  const acme = { tenant_id: uuidv7(), tenant_slug: 'acme' };
  const globex = { tenant_id: uuidv7(), tenant_slug: 'globex' };
  const member = (name: string, tenant: typeof acme): Member => ({
    email: `${name}@${tenant.tenant_slug}.test`,
    password: password(),
    user_id: uuidv7(),
    ...tenant,
  });
  return {
    ...addresses,
    administrator: {
      email: 'administrator@tessera.test',
      password: password(),
      user_id: uuidv7(),
    },
    owner: member('owner', acme),
    viewer: member('viewer', acme),
    person: member('person', acme),
    other_owner: member('owner', globex),
    system_application: {
      client_id: 'pipeline',
      client_secret: secret(),
      scope: [
        'identity.tenants.list',
        'identity.tenants.view',
        'identity.tenants.versions.update',
        'tenant.*.crm.contacts.*',
      ].join(' '),
    },
    crm_client: newCrmClient(),
    clients: {
      admin_panel: {
        client_id: 'admin-panel',
        client_secret: secret(),
        redirect_uris: ['http://127.0.0.1:3000/callback'],
      },
      mobile_app: {
        client_id: 'mobile-app',
        client_secret: null,
        redirect_uris: ['http://127.0.0.1:3002/callback', 'test.tessera.mobile:/callback'],
      },
      tenant: {
        client_id: 'tenant-acme',
        client_secret: secret(),
        redirect_uris: ['http://127.0.0.1:3001/callback'],
      },
    },
  };
};

const member = ({ user_id, email, password, tenant_slug }: Member, name: string, role: string) => ({
  id: user_id,
  email,
  password,
  first_name: name,
  last_name: tenant_slug === 'acme' ? 'Acme' : 'Globex',
  is_system_admin: false,
  memberships: [{ tenant_slug, role }],
});

/** The input of `identity-admin seed`. */
export const seedOf = (system: LocalSystem): object => {
  const { administrator, owner, viewer, person, other_owner, clients } = system;
  const application = ({ scope, ...of }: SystemApplication, name: string) => ({
    ...of,
    name,
    scopes: scope.split(' '),
  });
  const client = (of: Client, name: string, tenant_slug?: string) => ({
    ...of,
    name,
    is_trusted: true,
    is_first_party: tenant_slug === undefined,
    ...(tenant_slug && { tenant_slug }),
  });
  return {
    tenants: [
      { id: owner.tenant_id, slug: owner.tenant_slug, name: 'Acme', plan: 'business' },
      { id: other_owner.tenant_id, slug: other_owner.tenant_slug, name: 'Globex', plan: 'starter' },
    ],
    users: [
      {
        id: administrator.user_id,
        email: administrator.email,
        password: administrator.password,
        first_name: 'Ada',
        last_name: 'Administrator',
        is_system_admin: true,
        memberships: [],
      },
      member(owner, 'Olivia', 'owner'),
      member(viewer, 'Victor', 'viewer'),
      member(person, 'Petra', 'member'),
      member(other_owner, 'Otto', 'owner'),
    ],
    system_applications: [
      application(system.system_application, 'CI pipeline'),
      application(system.crm_client, 'CRM'),
    ],
    clients: [
      client(clients.admin_panel, 'Admin panel'),
      client(clients.mobile_app, 'Mobile app'),
      client(clients.tenant, 'Acme', owner.tenant_slug),
    ],
  };
};

const writePrivately = async (file: string, content: object): Promise<void> => {
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
};

const readIfThere = async <T>(file: string): Promise<T | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/**
 * The local system's accounts, created at the first start. `seed` gets them before they are written to
 * `local.json`, so that the file never names missing accounts and an interrupted start can be resumed.
 */
export const localSystem = async (
  directory: string,
  addresses: Addresses,
  seed: (document: object) => Promise<void>,
): Promise<LocalSystem> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, 'local.json');
  const known = await readIfThere<LocalSystem>(file);
  // Earlier releases created no client for CRM.
  if (known?.crm_client) {
    const system = { ...known, ...addresses };
    await writePrivately(file, system);
    return system;
  }
  const draft = path.join(directory, 'local.draft.json');
  const begun = known ?? (await readIfThere<LocalSystem>(draft)) ?? newSystem(addresses);
  const system = { ...begun, crm_client: begun.crm_client ?? newCrmClient(), ...addresses };
  await writePrivately(draft, system);
  await seed(seedOf(system));
  await rename(draft, file);
  return system;
};

/** The encryption keys of a service, created at the first start and stored in a file. */
export const keyEncryptionKeys = async (
  directory: string,
  name: 'keys.json' | 'crm-keys.json',
): Promise<string> => {
  const file = path.join(directory, name);
  const known = await readIfThere<{ key_encryption_keys: string }>(file);
  if (known) return known.key_encryption_keys;
  const key_encryption_keys = `local:${randomBytes(32).toString('base64')}`;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writePrivately(file, { key_encryption_keys });
  return key_encryption_keys;
};
