/** Caddy with the configuration of the manual. */

import { join } from 'node:path'
import t from 'tap'
import { startBeside } from './beside.ts'
import { besideCases } from './beside-cases.ts'

const beside = await startBeside(t, (block) => ({
  program: 'caddy',
  files: () => ({
    Caddyfile: `{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n${block('caddyfile')}`,
  }),
  args: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
}))

besideCases(beside, 'forward')
