/** The JSON text of a value, which is sent as it is. */
export class JsonText<T = unknown> {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The value itself, so that the text may be part of another one. */
  toJSON(): T {
    return JSON.parse(this.text);
  }
}
