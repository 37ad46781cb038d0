/** Caddy with the configuration of the manual. */

import { join } from 'node:path'
import type { FilesOf } from './beside.ts'
import { besideCases } from './beside-cases.ts'

const files: FilesOf = (block) => ({
  program: 'caddy',
  files: () => ({
    Caddyfile: `{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n${block('caddyfile')}`,
  }),
  args: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
})

await besideCases(files, 'forward')
