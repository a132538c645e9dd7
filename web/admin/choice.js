// What an operator has chosen for this browser: language and theme.

export const languages = { en: "English", zh: "中文" };
export const themes = ["system", "light", "dark"];

const named = (name) => `sluice.admin.${name}`;

function read(name) {
  try {
    return localStorage.getItem(named(name));
  } catch {
    return null; // no storage here: the choice holds until the page is left
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(named(name), value);
  } catch { /* as above */ }
}

// language returns the chosen one, else the browser's.
export function language() {
  const chosen = read("lang");
  if (chosen in languages) return chosen;
  return /^zh\b/i.test(navigator.language) ? "zh" : "en";
}

export function setLanguage(lang) {
  keep("lang", lang);
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
}

export function theme() {
  const chosen = read("theme");
  return themes.includes(chosen) ? chosen : "system";
}

export function setTheme(chosen) {
  keep("theme", chosen);
  document.documentElement.dataset.theme = chosen;
}
