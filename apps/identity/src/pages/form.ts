import { type Content, type Html, html } from '../http/html.ts';
import type { Texts } from './texts/texts.ts';
import type { Visit } from './visit.ts';

/** What fields are called, here and in the JSON that programs send. */
export type FieldName = keyof Texts['labels'];

/** A form as it was sent, and what is wrong with it. */
export interface FormState {
  readonly values: Readonly<Record<string, string | undefined>>;
  /** By field, in the reader's language. */
  readonly errors: Readonly<Partial<Record<FieldName, readonly string[]>>>;
  /** What is wrong with the whole of it. */
  readonly alert?: string | undefined;
  /** The link that led here is good for nothing: there is no point in trying again. */
  readonly isLinkDead?: boolean;
}

/** Values to choose from, with what each is called; under a heading where they have one. */
export interface ChoiceGroup {
  readonly heading?: string;
  readonly choices: readonly (readonly [value: string, name: string])[];
}

export const emptyForm: FormState = { values: {}, errors: {} };

/** A field as a page declares it. */
export interface FieldSpec {
  readonly name: FieldName;
  readonly type?: 'text' | 'email' | 'password' | 'tel' | 'file';
  /** Where the usual one does not say enough. */
  readonly label?: string;
  readonly isOptional?: boolean;
  /** Of a file: the media types to choose from. */
  readonly accept?: readonly string[];
  /** One of these is chosen, in the place of typing. */
  readonly choices?: readonly ChoiceGroup[];
  /** WHATWG HTML section 4.10.18.7; for password managers and for who types with difficulty. */
  readonly autocomplete: string;
  readonly inputmode?: 'numeric' | 'email';
  readonly hint?: string | undefined;
  readonly maxlength?: number;
  /** What stands in it at first. */
  readonly value?: string | undefined;
  /** Below it. */
  readonly below?: Content;
}

const describedBy = (ids: readonly (string | false | undefined)[]): Content => {
  const known = ids.filter(Boolean).join(' ');
  return known !== '' && html` aria-describedby="${known}"`;
};

const options = ({ choices }: ChoiceGroup, chosen: string | undefined): Html[] =>
  choices.map(
    ([value, name]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`,
  );

const select = (groups: readonly ChoiceGroup[], attributes: Html, chosen: string | undefined) =>
  html`<select ${attributes}>${groups.map((group) =>
    group.heading === undefined
      ? options(group, chosen)
      : html`<optgroup label="${group.heading}">${options(group, chosen)}</optgroup>`,
  )}</select>`;

const input = (
  { type = 'text', inputmode, maxlength = 1000, accept }: FieldSpec,
  attributes: Html,
  value: string | undefined,
): Html =>
  html`<input type="${type}" ${attributes}${type !== 'file' && html` maxlength="${maxlength}"`}${
    inputmode !== undefined && html` inputmode="${inputmode}"`
  }${type === 'email' && html` autocapitalize="none" spellcheck="false"`}${
    accept !== undefined && html` accept="${accept.join(',')}"`
  }${value !== undefined && html` value="${value}"`}>`;

const field = (visit: Visit, form: FormState, spec: FieldSpec, hasFocus: boolean): Html => {
  const {
    name,
    type = 'text',
    autocomplete,
    hint,
    choices,
    label,
    isOptional = false,
    below,
  } = spec;
  const errors = form.errors[name] ?? [];
  const isWrong = errors.length > 0;
  // What is wrong says what the hint says, and more.
  const isHinted = hint !== undefined && !isWrong;
  // What is secret goes one way only.
  const isHidden = type === 'password';
  const isSecret = isHidden || type === 'file' || name === 'code';
  const value = isSecret ? undefined : (form.values[name] ?? spec.value);
  const attributes = html`id="${name}" name="${name}" autocomplete="${autocomplete}"${
    !isOptional && html` required`
  }${isWrong && html` aria-invalid="true"`}${describedBy([
    isWrong && `${name}-error`,
    isHinted && `${name}-hint`,
  ])}${hasFocus && html` autofocus`}`;
  return html`<div class="field">
<label for="${name}">${label ?? visit.texts.labels[name]}</label>
<div class="entry"${isHidden && html` data-show="${visit.texts.show}" data-hide="${visit.texts.hide}"`}>
${choices === undefined ? input(spec, attributes, value) : select(choices, attributes, value)}
</div>
${isWrong && html`<ul class="error" id="${name}-error">${errors.map((error) => html`<li>${error}</li>`)}</ul>`}
${isHinted && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${below}
</div>`;
};

/** Password managers keep a password with the name that stands beside it, seen or not. */
export const accountName = (email: string | null): Content =>
  email !== null &&
  html`<input type="email" class="unseen" name="username" autocomplete="username" value="${email}" tabindex="-1" aria-hidden="true" readonly>`;

/**
 * The fields of a form; the first that is wrong, or else the first that is empty, has the focus. With `wrong`
 * only the former: for a page that has to be read before something is typed.
 */
export const fields = (
  visit: Visit,
  form: FormState,
  specs: readonly FieldSpec[],
  focused: 'wrong' | 'wrong or empty' = 'wrong or empty',
): Html => {
  const isFilled = ({ name, type, value, isOptional = false }: FieldSpec): boolean =>
    isOptional || (type !== 'password' && (form.values[name] ?? value ?? '') !== '');
  const focus =
    specs.find(({ name }) => form.errors[name] !== undefined) ??
    (focused === 'wrong' ? undefined : specs.find((spec) => !isFilled(spec)));
  return html`${specs.map((spec) => field(visit, form, spec, spec === focus))}`;
};

/** The field for the password of the account, where something has to be confirmed with it. */
export const passwordConfirmation = (
  visit: Visit,
  form: FormState,
  email: string | null,
): Content => [
  accountName(email),
  fields(visit, form, [{ name: 'password', type: 'password', autocomplete: 'current-password' }]),
];

export const checkbox = (form: FormState, name: string, label: string): Html => {
  const errors: readonly string[] =
    (form.errors as Readonly<Record<string, readonly string[] | undefined>>)[name] ?? [];
  const isWrong = errors.length > 0;
  return html`<label class="choice"><input type="checkbox" name="${name}" value="true"${
    form.values[name] === 'true' && html` checked`
  }${isWrong && html` aria-invalid="true" aria-describedby="${name}-error" autofocus`}> <span>${label}</span></label>
${isWrong && html`<ul class="error" id="${name}-error">${errors.map((error) => html`<li>${error}</li>`)}</ul>`}`;
};

/** What has happened, or what is wrong with the whole form. */
export const message = ({ texts, query, user }: Visit, form: FormState): Content => {
  if (form.alert !== undefined) {
    return html`<div class="notice wrong" role="alert">${form.alert}</div>`;
  }
  const notices: Readonly<Record<string, string>> = {
    ...texts.notices,
    ...(user !== null && texts.signedInNotices),
  };
  const notice = query.notice ?? '';
  return (
    Object.hasOwn(notices, notice) &&
    html`<div class="notice" role="status">${notices[notice]}</div>`
  );
};

interface FormOptions {
  /** Unless given, the page itself. */
  readonly action?: string;
  readonly submit: string;
  /** Sending it is not the first thing to do on the page. */
  readonly isPlain?: boolean;
  /** What it does cannot be undone. */
  readonly isDangerous?: boolean;
  readonly content?: Content;
  /** What is sent when it is this button that was pressed. */
  readonly decision?: readonly [name: string, value: string];
  /** Whether the page shows above the form what has happened, or what is wrong. */
  readonly isMessageElsewhere?: boolean;
  /** Whether it sends a file. */
  readonly isUpload?: boolean;
  /** Beside the button. */
  readonly beside?: Content;
}

/** The page itself, with what it was called with; a chosen language is kept in a cookie. */
const sameAddress = ({ query }: Visit): string => {
  const { notice: _, ui_locales: __, ...rest } = query;
  return `?${new URLSearchParams(rest)}`;
};

/** The id of a page's form, so that buttons elsewhere on the page can send it. */
export const FORM_ID = 'form';

/** The form of a page. A page has one at most; what else can be pressed has forms of its own. */
export const formOf = (visit: Visit, state: FormState, options: FormOptions): Html => {
  const {
    action = sameAddress(visit),
    submit,
    isPlain = false,
    isUpload = false,
    isDangerous = false,
    isMessageElsewhere = false,
    content,
    decision,
    beside,
  } = options;
  return html`${!isMessageElsewhere && message(visit, state)}
<form id="${FORM_ID}" method="post" action="${action}"${isUpload && html` enctype="multipart/form-data"`} novalidate>
<input type="hidden" name="form_token" value="${visit.formToken}">
${content}
<div class="actions"><button type="submit"${isPlain && html` class="plain"`}${isDangerous && html` class="danger"`}${
    decision !== undefined && html` name="${decision[0]}" value="${decision[1]}"`
  }>${submit}</button>${beside}</div>
</form>`;
};

/** A link below a form, with a question before it. */
export const link = (address: string, text: string, question?: string): Html =>
  html`<p class="below">${question !== undefined && html`${question} `}<a href="${address}">${text}</a></p>`;

export const signOutForm = (visit: Visit): Html => html`<form method="post" action="/sign-out">
<input type="hidden" name="form_token" value="${visit.tokens.user}">
<button type="submit" class="plain">${visit.texts.signOutNow}</button>
</form>`;
