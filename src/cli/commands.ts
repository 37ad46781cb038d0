/** The commands by name. */

import type { Command } from './command.ts'

/** Loaded on demand: a command does not load the code of another. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).init,
  start: async () => (await import('./start.ts')).start,
  check: async () => (await import('./check.ts')).check,
  routes: async () => (await import('./routes.ts')).routes,
  diff: async () => (await import('./diff.ts')).diff,
  explain: async () => (await import('./explain.ts')).explain,
  'who-can': async () => (await import('./who-can.ts')).whoCan,
  can: async () => (await import('./can.ts')).can,
  import: async () => (await import('./import.ts')).importCommand,
  lint: async () => (await import('./lint.ts')).lint,
  replay: async () => (await import('./replay.ts')).replay,
  test: async () => (await import('./test.ts')).test,
  fleet: async () => (await import('./fleet.ts')).fleet,
  audit: async () => (await import('./audit.ts')).audit,
  bootstrap: async () => (await import('./bootstrap.ts')).bootstrap,
  token: async () => (await import('./token.ts')).token,
  completion: async () => (await import('./completion.ts')).completionOf(everyCommand),
}

export function everyCommand(): Promise<Command[]> {
  return Promise.all(Object.values(commands).map((load) => load()))
}
