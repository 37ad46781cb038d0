/** Command lines that are printed for the user to run. */

/** The name by which this program was probably called: `npx seatgate` or `seatgate`. */
export function programName(env: NodeJS.ProcessEnv): string {
  // `npm run seatgate` of a clone leaves no `seatgate` on PATH either.
  const byNpm = env['npm_command'] === 'exec' || env['npm_lifecycle_event'] === 'seatgate'
  return byNpm ? 'npx seatgate' : 'seatgate'
}

/** A path as one word of a POSIX shell. No command takes it for an option. */
export function pathWord(path: string): string {
  return word(path.startsWith('-') ? `./${path}` : path)
}

/** Text as one word of a POSIX shell. */
export function word(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
