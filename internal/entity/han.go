package entity

// marked reports whether anything that is looked for begins with the Han character at i:
// most do not, and are passed without a further look.
func marked(text string, i int) bool {
	switch rune(text[i]&0x0f)<<12 | rune(text[i+1]&0x3f)<<6 | rune(text[i+2]&0x3f) {
	case '一', '七', '万', '三', '上', '下', '两', '中', '九', '二', '五', '今', '仟', '伍', '优', '传', '佰', '兩', '八', '六', '前', '包', '十', '千',
		'单', '卡', '叁', '发', '后', '周', '單', '四', '圆', '型', '壹', '大', '幺', '尾', '工', '帳', '座', '後', '快', '手', '护', '拾', '捌', '明', '星',
		'昨', '本', '柒', '热', '物', '玖', '申', '电', '發', '百', '礼', '禮', '税', '联', '聯', '肆', '萬', '訂', '證', '護', '订', '证', '账', '货',
		'贰', '身', '运', '这', '這', '週', '運', '邮', '銀', '银', '陆', '零', '電', '韵', '顺', '驗', '验':
		return true
	}
	return false
}
