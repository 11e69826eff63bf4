import { type Command, Help, type HelpConfiguration, type Option } from 'commander';

const standard = new Help();

/** What a user must know of an option besides its meaning: whether it is required, or else its default. */
const optionDescription = (option: Option): string => {
  const text = standard.optionDescription(option);
  if (option.mandatory) return `${text} (required)`.trim();
  // The description of commander contains the default.
  if (option.defaultValue !== undefined || option.long === '--help') return text;
  return `${text} (optional)`.trim();
};

/**
 * Arguments come first and required options are named. An option that takes several values, such as
 * `--redirect-uri <uri...>`, would take an argument that follows it for another value.
 */
const commandUsage = (command: Command): string => {
  const [path = '', given = ''] = standard.commandUsage(command).split(' [options]');
  const required = command.options.filter(({ mandatory }) => mandatory);
  const options = [...required.map(({ flags }) => flags), '[options]'];
  return `${path}${given} ${options.join(' ')}`;
};

/** How administration programs print the help of their commands. */
export const help: HelpConfiguration = {
  optionDescription,
  commandUsage,
  showGlobalOptions: true,
};
