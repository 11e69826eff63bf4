declare const value: unique symbol;

/** A value as JSON text, which is sent without being created. `T` is the type of the value. */
export class JsonText<T = unknown> {
  readonly text: string;
  declare readonly [value]?: T;

  constructor(text: string) {
    this.text = text;
  }

  /** The value itself, so that the text may be part of another one. */
  toJSON(): T {
    return JSON.parse(this.text);
  }
}
