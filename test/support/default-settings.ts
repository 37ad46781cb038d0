/** The settings of an empty configuration, from the defaults in the schema. */

import { LineCounter } from 'yaml'
import type { Limits, MemoryBounds } from '../../src/config/config.ts'
import { Document } from '../../src/config/positioned-document.ts'
import { buildLimits, buildMemory } from '../../src/config/limits.ts'
import { type Schema, schemas } from '../../src/config/schema.ts'
import { Section } from '../../src/config/section.ts'

const empty = new Section(new Document('', new LineCounter()), {}, '', schemas.gateway as Schema)

export const DEFAULT_LIMITS: Limits = buildLimits(empty, 1)
export const DEFAULT_MEMORY: MemoryBounds = buildMemory(empty)
