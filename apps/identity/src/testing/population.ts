import { randomUUID } from 'node:crypto';
import type { BuiltInRoleName } from '@tessera/contracts';
import type { Policy } from '@tessera/scope-matcher';
import bcrypt from 'bcrypt';
import type { Agent } from 'supertest';
import type { Database } from '../database.ts';
import type { Tenant, User } from '../generated/prisma/client.ts';
import { digest, newSecret } from '../security/secrets.ts';
import { Authenticator } from './authenticator.ts';

export const PASSWORD = 'Correct-horse-7-battery';

/** Headers of a signed-in caller. */
export type Bearer = {
  readonly authorization: string;
};

export interface Application {
  readonly clientId: string;
  readonly secret: string;
  readonly token: string;
  readonly bearer: Bearer;
}

interface UserOptions {
  /** Given: they are a member of it, with these rights. */
  readonly tenant?: Tenant;
  /** Actions that their role allows; with a leading `!` it denies. */
  readonly actions?: readonly string[];
  /** A built-in role, in place of one made from `actions`. */
  readonly role?: BuiltInRoleName;
  /** Any role that exists. */
  readonly roleId?: string;
  readonly password?: string;
  readonly data?: Partial<
    Pick<
      User,
      | 'email'
      | 'firstName'
      | 'lastName'
      | 'isActive'
      | 'isSystemAdmin'
      | 'isServiceAccount'
      | 'emailVerifiedAt'
    >
  >;
}

const policy = (action: string): Policy =>
  action.startsWith('!')
    ? { action: action.slice(1), effect: 'deny' }
    : { action, effect: 'allow' };

/** Makes what tests need in the database; names are unique unless given. */
export class Population {
  readonly #database: Database;
  readonly #http: Agent;
  readonly #cost: number;
  readonly #passwords = new Map<string, string>();

  constructor(database: Database, http: Agent, cost: number) {
    this.#database = database;
    this.#http = http;
    this.#cost = cost;
  }

  tenant(data: Partial<Pick<Tenant, 'slug' | 'name' | 'plan' | 'status'>> = {}): Promise<Tenant> {
    const slug = `tenant-${randomUUID().slice(0, 8)}`;
    return this.#database.tenant.create({ data: { slug, name: slug, ...data } });
  }

  /** A role of the tenant; gives its id. */
  async role(tenant: Tenant, ...actions: readonly string[]): Promise<string> {
    const { id } = await this.#database.role.create({
      data: {
        tenantId: tenant.id,
        name: `role-${randomUUID()}`,
        policies: { create: actions.map(policy) },
      },
    });
    return id;
  }

  /** The id of a built-in role. */
  async builtInRole(name: BuiltInRoleName): Promise<string> {
    const { id } = await this.#database.role.findFirstOrThrow({ where: { tenantId: null, name } });
    return id;
  }

  async join(user: User, tenant: Tenant, roleId: string): Promise<void> {
    await this.#database.membership.create({
      data: { tenantId: tenant.id, userId: user.id, roleId },
    });
  }

  async user(options: UserOptions = {}): Promise<User> {
    const { tenant, actions = [], role, password = PASSWORD, data } = options;
    const user = await this.#database.user.create({
      data: {
        email: `${randomUUID()}@example.test`,
        firstName: 'Ada',
        lastName: 'Tester',
        tenantId: tenant?.id ?? null,
        emailVerifiedAt: data?.isServiceAccount ? null : new Date(),
        passwordHash: data?.isServiceAccount ? null : await bcrypt.hash(password, this.#cost),
        ...data,
      },
    });
    this.#passwords.set(user.id, password);
    if (tenant) {
      const existing = role ? await this.builtInRole(role) : options.roleId;
      await this.join(user, tenant, existing ?? (await this.role(tenant, ...actions)));
    }
    return user;
  }

  /** Signs a user in as a person would, as far as a password leads. */
  async signIn(user: User): Promise<Bearer> {
    const password = this.#passwords.get(user.id);
    const { status, body } = await this.#http
      .post('/api/auth/login')
      .send({ email: user.email, password });
    if (status !== 200) throw new Error(`${user.email} cannot sign in: ${JSON.stringify(body)}`);
    return { authorization: `Bearer ${body.data.token}` };
  }

  /** Turns on the second factor of a user who is signed in. */
  async enableTwoFactor(user: User, bearer: Bearer): Promise<Authenticator> {
    const { body } = await this.#http.post('/api/auth/2fa/enable').set(bearer);
    const { secret, recovery_codes: recoveryCodes } = body.data;
    const authenticator = new Authenticator(this.#database, user.id, { secret, recoveryCodes });
    const code = await authenticator.code();
    const { status } = await this.#http.post('/api/auth/2fa/confirm').set(bearer).send({ code });
    if (status !== 200) throw new Error(`The second factor of ${user.email} was not confirmed.`);
    return authenticator;
  }

  /** Sets the PIN of a user who is signed in: later sign-ins need it. */
  async setPin(bearer: Bearer, pin: string): Promise<void> {
    const { status } = await this.#http
      .post('/api/auth/pin/set')
      .set(bearer)
      .send({ pin, pin_confirmation: pin });
    if (status !== 200) throw new Error(`The PIN ${pin} was not set.`);
  }

  /** Headers of a new, signed-in member of the tenant who holds these actions. */
  async caller(tenant: Tenant, ...actions: readonly string[]): Promise<Bearer> {
    return this.signIn(await this.user({ tenant, actions }));
  }

  /** A system application, and a token of it. */
  async application(scope: string): Promise<Application> {
    const [clientId, secret] = [`app-${randomUUID()}`, newSecret()];
    const secretHash = digest(secret);
    await this.#database.systemApplication.create({
      data: { clientId, name: 'Pipeline', secretHash, scopes: scope.split(' ') },
    });
    const { body } = await this.#http
      .post('/api/oauth/token')
      .send({ grant_type: 'client_credentials', client_id: clientId, client_secret: secret });
    const token: string = body.access_token;
    return { clientId, secret, token, bearer: { authorization: `Bearer ${token}` } };
  }
}
