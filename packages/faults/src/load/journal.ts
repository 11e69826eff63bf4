/** A contact that was sent to CRM. */
export interface Write {
  /** Its Idempotency-Key and its first name, which begins with the tenant. */
  readonly name: string;
  readonly tenant: string;
  /** The id in the 2xx response; undefined until there is one. */
  id: string | undefined;
}

/** Everything that was sent to be written, and what was answered. */
export class Journal {
  readonly writes: Write[] = [];
  #last = 0;

  /** Adds a write that is about to be sent. */
  next(tenant: string, run: string): Write {
    this.#last += 1;
    const write: Write = { name: `${tenant}-${run}-${this.#last}`, tenant, id: undefined };
    this.writes.push(write);
    return write;
  }

  get answered(): readonly Write[] {
    return this.writes.filter(({ id }) => id !== undefined);
  }

  get unanswered(): readonly Write[] {
    return this.writes.filter(({ id }) => id === undefined);
  }
}
