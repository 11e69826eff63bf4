import { stat } from 'node:fs/promises';
import type { Logger } from '@tessera/http-kit';
import { type AddressScope, addressScopeOf } from '@tessera/http-kit';
import { open, type Reader, type Response } from 'maxmind';

/** The location of an IP address, as far as it is known. */
export interface Place {
  readonly reach: AddressScope;
  /** ISO 3166-1 alpha-2; null if unknown. */
  readonly country: string | null;
  /** The names of the city by language; empty if unknown. English is the fallback for other languages. */
  readonly cityNames: Readonly<Record<string, string>>;
}

/** A record of a geolocation database: of MaxMind and DB-IP, or the flat records of others. */
interface PlaceRecord {
  readonly country?: { readonly iso_code?: unknown };
  readonly country_code?: unknown;
  readonly city?: unknown;
}

const CHECK_MS = 3600_000;
const COUNTRY = /^[A-Z]{2}$/;

const countryOf = ({ country, country_code }: PlaceRecord): string | null => {
  const code = country?.iso_code ?? country_code;
  return typeof code === 'string' && COUNTRY.test(code) ? code : null;
};

const cityNamesOf = ({ city }: PlaceRecord): Readonly<Record<string, string>> => {
  if (typeof city === 'string' && city !== '') return { en: city };
  const names = typeof city === 'object' && city !== null && 'names' in city ? city.names : {};
  const entries = Object.entries(names ?? {});
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};

/** Locates IP addresses with the operator's database in MaxMind DB format. */
export class Places {
  readonly #path: string | undefined;
  readonly #logger: Logger;
  #reader: Reader<Response> | undefined;
  #version = '';
  #timer: NodeJS.Timeout | undefined;

  /** Without a `path`, only loopback and private addresses are recognised. */
  constructor(path: string | undefined, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  /** Reads the database; throws if it cannot be read. */
  async start(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      throw new Error(`GEOIP_DATABASE: ${this.#path} cannot be read.`, { cause: error });
    }
    if (this.#path === undefined) return;
    this.#timer = setInterval(() => {
      this.refresh().catch((err: unknown) => {
        this.#logger.warn({ err }, 'the new database of places cannot be read; the old one stays');
      });
    }, CHECK_MS);
    this.#timer.unref();
  }

  /** Reads the database again if its file has changed. */
  async refresh(): Promise<void> {
    if (this.#path === undefined) return;
    const { mtimeMs, size, ino } = await stat(this.#path);
    const version = [mtimeMs, size, ino].join();
    if (version === this.#version) return;
    this.#reader = await open(this.#path);
    this.#version = version;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
  }

  /** The location of a normalised address. */
  of(address: string): Place {
    const reach = addressScopeOf(address);
    const record = reach === 'internet' ? this.#find(address) : {};
    return { reach, country: countryOf(record), cityNames: cityNamesOf(record) };
  }

  #find(address: string): PlaceRecord {
    try {
      return (this.#reader?.get(address) ?? {}) as PlaceRecord;
    } catch (err) {
      // A damaged database, or an IPv6 address in a database of IPv4 addresses.
      this.#logger.debug({ err }, 'an address was not found in the database of places');
      return {};
    }
  }
}
