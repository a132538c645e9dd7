package chat

import "strings"

// syllables are those of Mandarin in pinyin, without tones.
const syllables = " a ai an ang ao ba bai ban bang bao bei ben beng bi bian biao bie bin bing bo bu ca cai can cang cao ce cha chai chan chang chao che chen cheng chi " +
	"chong chou chu chuan chuang chui chun ci cong cu cui cun cuo da dai dan dang dao de deng di dian diao die ding diu dong dou du duan dui dun duo e en " +
	"er fa fan fang fei fen feng fo fou fu gai gan gang gao ge gei gen geng gong gou gu gua guai guan guang gui gun guo ha hai han hang hao he hei hen " +
	"heng hong hou hu hua huai huan huang hui hun huo ji jia jian jiang jiao jie jin jing jiu ju juan jue jun ka kai kan kang kao ke ken keng kong kou ku " +
	"kua kuai kuan kuang kui kun kuo la lai lan lang lao le lei leng li lia lian liang liao lie lin ling liu long lou lu luan lun luo lv ma mai man mang " +
	"mao me mei men meng mi mian miao mie min ming mo mou mu na nai nan nao ne nei nen neng ni nian niang niao nin ning niu nong nu nuan nv o ou pa pai " +
	"pan pang pao pei pen peng pi pian piao pin ping po pu qi qia qian qiang qiao qie qin qing qiong qiu qu quan que qun ran rang rao re ren reng ri rong " +
	"rou ru ruan ruo sa sai san sao se sha shai shan shang shao she shei shen sheng shi shou shu shua shuai shuang shui shun shuo si song sou su suan sui " +
	"sun suo ta tai tan tang tao te teng ti tian tiao tie ting tong tou tu tuan tui tun tuo wa wai wan wang wei wen wo wu xi xia xian xiang xiao xie xin " +
	"xing xiong xiu xu xuan xue xun ya yan yang yao ye yi yin ying yo yong you yu yuan yue yun za zai zan zang zao ze zen zeng zha zhai zhan zhang zhao " +
	"zhe zhen zheng zhi zhong zhou zhu zhua zhuan zhuang zhui zhun zhuo zi zong zou zu zui zuo "

// doubles are English words that look like pinyin: they say nothing of either.
const doubles = " a ai an are ba bake ban bang banana be ben bike bin bang bo cake can canada cape chance change chase chat china chin chip dance damage dang date den die din dine due dun e en er " +
	"fan fang fen gang gate gun ha hang he hen here human ka lake lame lane late lei lie like line long ma made make man manage mane me men menu mike mine mo name nan nine nun o on one ou " +
	"pa page pan panda pane pang pen pie pin pine ping po ran rang run sale same sang save se shame shake share she shin shine shun size song sue sun sung ta take tan tang tape tie time tong tune " +
	"wan wang wage women woman yang ye yen yin you zen "

// longestPinyin is the longest word that is read as pinyin, in bytes.
const longestPinyin = 30

// pinyin tells how a word in Latin letters may be read. is: it is made of syllables; sure:
// one of them is as no English word has it.
func pinyin(word string) (is, sure bool, count int) {
	if len(word) > longestPinyin {
		return false, false, 0
	}
	dead := uint32(0) // bit i: the rest from i on is no pinyin
	var spell func(at int) (bool, bool, int)
	spell = func(at int) (bool, bool, int) {
		if at == len(word) {
			return true, false, 0
		}
		if dead>>at&1 == 1 {
			return false, false, 0
		}
		for n := min(6, len(word)-at); n > 0; n-- {
			one := word[at : at+n]
			if !strings.Contains(syllables, " "+one+" ") {
				continue
			}
			if rest, sure, count := spell(at + n); rest {
				return true, sure || isSure(one), count + 1
			}
		}
		dead |= 1 << at
		return false, false, 0
	}
	return spell(0)
}

// isSure tells a syllable that English words do not hold.
func isSure(syllable string) bool {
	if strings.HasPrefix(syllable, "zh") || syllable[0] == 'x' || syllable[0] == 'q' && syllable != "que" {
		return true
	}
	for _, ending := range [...]string{"ui", "uo", "uai", "uan", "uang", "iu", "iao", "ian", "iang", "iong"} {
		if len(syllable) > len(ending) && strings.HasSuffix(syllable, ending) {
			return true
		}
	}
	return false
}

// spelt counts a word for whether a text is Chinese in Latin letters. One that stands alone
// with a capital is a name.
func (c *counts) spelt(word string, capitals int) {
	is, sure, count := pinyin(word)
	if !is || strings.Contains(doubles, " "+word+" ") {
		return
	}
	if sure || count == 1 {
		c.pinyin++
	}
	c.sure = c.sure || sure && count > 1 && capitals == 0
}

// isPinyin reports whether the words of a text are Chinese in Latin letters: two in three of
// several, or a single one that no other language has.
func (c *counts) isPinyin() bool {
	return c.words > 1 && c.pinyin > 1 && 3*c.pinyin >= 2*c.words || c.words == 1 && c.sure
}
