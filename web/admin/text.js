// The words of the page, in the language that the operator has chosen.

import { english } from "./text_en.js";
import { chinese } from "./text_zh.js";

const tables = { en: english, zh: chinese };

export function text(lang) { return tables[lang] ?? english; }
